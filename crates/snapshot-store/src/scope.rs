/// Who a run belongs to. All three fields must match; an empty field is a value like any other, not a wildcard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The agent.
    pub agent: String,
    /// The session, for example one connection of an MCP host.
    pub session: String,
    /// The agent's run or turn inside the session.
    pub run: String,
}
