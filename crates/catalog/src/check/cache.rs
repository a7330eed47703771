use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use serde_json::Value;

use super::{
    ArgumentError, ContractError, ContractSide, OutputError,
    contract::{Contract, Trust, Verdict},
    problem::Showing,
};
use crate::{lookup::shortened, tool::Tool};

/// Compiled schemas kept per catalog.
///
/// A compiled schema takes tens of kilobytes, so keeping one for each of 16,500 tools would take hundreds of
/// megabytes; a cell uses a handful.
const MAX_COMPILED: usize = 256;

/// The compiled schemas of one catalog, made at first use, the least recently used dropped.
#[derive(Debug, Default)]
pub(crate) struct Contracts {
    kept: Mutex<Kept>,
    tools: AtomicU32,
}

#[derive(Debug, Default)]
struct Kept {
    /// By number of the tool: its id would be copied and hashed several times a call.
    contracts: HashMap<(u32, ContractSide), (Arc<Contract>, u64)>,
    uses: u64,
}

impl Contracts {
    /// A number for one more tool of the catalog.
    pub(crate) fn number(&self) -> u32 {
        self.tools.fetch_add(1, Ordering::Relaxed)
    }

    /// Compiles one side, and fails if it is a trusted tool's and unusable.
    pub(crate) fn ready(&self, tool: &Tool, side: ContractSide) -> Result<(), ContractError> {
        self.usable(tool, side).map(|_| ())
    }

    /// The reason why values of an untrusted tool cross unchecked.
    pub(crate) fn unchecked(&self, tool: &Tool, side: ContractSide) -> Option<String> {
        self.usable(tool, side).ok()??.unusable().map(str::to_owned)
    }

    pub(crate) fn check_arguments(&self, tool: &Tool, arguments: &Value) -> Result<(), ArgumentError> {
        let invalid = |problems| ArgumentError::Invalid {
            id: tool.id().clone(),
            problems,
            input: tool.input_hint().to_owned(),
        };
        // The protocol has no other kind, whatever the schema forgets to say.
        if tool.is_mcp() && !arguments.is_object() {
            return Err(invalid(vec![super::problem::not_an_object(arguments)]));
        }
        match self
            .usable(tool, ContractSide::Input)?
            .map(|contract| contract.check(arguments, Showing::Values))
        {
            Some(Verdict::Broken(problems)) => Err(invalid(problems)),
            Some(Verdict::Met | Verdict::Unchecked) | None => Ok(()),
        }
    }

    pub(crate) fn check_output(&self, tool: &Tool, value: &Value) -> Result<(), OutputError> {
        match self
            .usable(tool, ContractSide::Output)?
            .map(|contract| contract.check(value, Showing::KindsOnly))
        {
            Some(Verdict::Broken(problems)) => Err(OutputError::Mismatch {
                id: tool.id().clone(),
                problems,
            }),
            Some(Verdict::Met | Verdict::Unchecked) | None => Ok(()),
        }
    }

    /// The contract, `None` if the tool has no schema on this side.
    fn usable(&self, tool: &Tool, side: ContractSide) -> Result<Option<Arc<Contract>>, ContractError> {
        let schema = match side {
            ContractSide::Input => Some(&tool.spec().parameters).filter(|schema| !schema.is_null()),
            ContractSide::Output => tool.spec().output_schema.as_ref(),
        };
        let Some(schema) = schema else { return Ok(None) };
        let trusted = tool.spec().owner.is_trusted();
        let contract = self.get(tool.number(), side, || {
            Contract::compile(schema, if trusted { Trust::Trusted } else { Trust::Untrusted })
        });
        match contract.unusable() {
            Some(reason) if trusted => Err(ContractError {
                id: tool.id().clone(),
                side,
                reason: shortened(reason),
            }),
            _ => Ok(Some(contract)),
        }
    }

    fn get(&self, tool: u32, side: ContractSide, compile: impl FnOnce() -> Contract) -> Arc<Contract> {
        let key = (tool, side);
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.uses += 1;
            let now = kept.uses;
            if let Some((contract, used)) = kept.contracts.get_mut(&key) {
                *used = now;
                return Arc::clone(contract);
            }
        }
        // Compiled outside the lock: one slow schema must not hold up other tools.
        let contract = Arc::new(compile());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.contracts.len() >= MAX_COMPILED {
            let oldest = kept
                .contracts
                .iter()
                .min_by_key(|(_, (_, used))| *used)
                .map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                kept.contracts.remove(&oldest);
            }
        }
        let now = kept.uses;
        kept.contracts.insert(key, (Arc::clone(&contract), now));
        contract
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        id::ToolId,
        spec::{Owner, ToolSpec},
    };

    #[test]
    fn compiled_schemas_are_bounded_however_many_tools_are_used() {
        let contracts = Arc::new(Contracts::default());
        for number in 0..MAX_COMPILED + 40 {
            let spec = ToolSpec::new(
                Owner::Mcp("s".into()),
                format!("t{number}"),
                "",
                json!({ "type": "object" }),
            );
            let tool = Tool::new(ToolId::new(&spec.owner, &spec.name), spec, Arc::clone(&contracts));
            assert_eq!(tool.check_arguments(&json!({})), Ok(()));
        }
        assert_eq!(contracts.kept.lock().unwrap().contracts.len(), MAX_COMPILED);
    }
}
