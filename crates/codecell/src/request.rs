use codecell_model_surface::Languages;
use codecell_ts_transform::Language;
use serde_json::Value;

/// `exec`'s arguments, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecRequest {
    pub(crate) source: String,
    pub(crate) language: Language,
    pub(crate) restart_safe: bool,
}

/// Why arguments were refused, said so that the caller can correct them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArguments {
    #[error("code or command must be a non-empty string. Give the program in `code`.")]
    NoSource,
    #[error("code and command must match when both are provided. Give the program in `code` alone.")]
    Conflict,
    #[error("language must be javascript or typescript.")]
    UnknownLanguage,
    #[error("code mode {0} input is disabled. Write the program in {1}.")]
    DisabledLanguage(&'static str, &'static str),
    #[error("restartSafe must be a boolean.")]
    RestartSafe,
    #[error("runId must be a non-empty string: the `runId` of a result whose status is \"waiting\".")]
    NoRunId,
}

impl ExecRequest {
    /// The language of the program, where it is known before anything else is read.
    pub(crate) fn language(arguments: &Value, languages: Languages) -> Option<&'static str> {
        language(arguments, languages).map(Language::name)
    }

    /// Reads the arguments. Keys nobody knows are ignored, as hosts add their own.
    pub(crate) fn read(arguments: &Value, languages: Languages) -> Result<Self, BadArguments> {
        let source = source(arguments)?;
        let language = language(arguments, languages).ok_or(BadArguments::UnknownLanguage)?;
        match (languages, language) {
            (Languages::JavaScriptOnly, Language::TypeScript) => {
                return Err(BadArguments::DisabledLanguage("typescript", "javascript"));
            }
            (Languages::TypeScriptOnly, Language::JavaScript) => {
                return Err(BadArguments::DisabledLanguage("javascript", "typescript"));
            }
            _ => {}
        }
        let restart_safe = match arguments.get("restartSafe") {
            None => false,
            Some(Value::Bool(given)) => *given,
            Some(_) => return Err(BadArguments::RestartSafe),
        };
        Ok(Self {
            source,
            language,
            restart_safe,
        })
    }
}

/// What a cell is written in, unless it names a language that is none.
fn language(arguments: &Value, languages: Languages) -> Option<Language> {
    match arguments.get("language") {
        None => Some(default_language(languages)),
        Some(Value::String(name)) if name == "javascript" => Some(Language::JavaScript),
        Some(Value::String(name)) if name == "typescript" => Some(Language::TypeScript),
        Some(_) => None,
    }
}

/// What a cell is written in when it does not say: JavaScript, unless only TypeScript is allowed.
fn default_language(languages: Languages) -> Language {
    match languages {
        Languages::TypeScriptOnly => Language::TypeScript,
        Languages::Both | Languages::JavaScriptOnly => Language::JavaScript,
    }
}

/// The program: `code`, or its alias `command`; a blank one counts as absent.
fn source(arguments: &Value) -> Result<String, BadArguments> {
    let given = |key: &str| {
        arguments
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
    };
    match (given("code"), given("command")) {
        (Some(code), Some(command)) if code != command => Err(BadArguments::Conflict),
        (Some(source), _) | (None, Some(source)) => Ok(source),
        (None, None) => Err(BadArguments::NoSource),
    }
}

/// The `runId` of `wait`'s arguments; `run_id` is understood too.
pub(crate) fn run_id(arguments: &Value) -> Result<&str, BadArguments> {
    ["runId", "run_id"]
        .iter()
        .filter_map(|key| arguments.get(key).and_then(Value::as_str))
        .map(str::trim)
        .find(|id| !id.is_empty())
        .ok_or(BadArguments::NoRunId)
}

#[cfg(test)]
mod tests {
    use codecell_model_surface::Languages;
    use codecell_ts_transform::Language;
    use serde_json::{Value, json};

    use super::{BadArguments, ExecRequest, run_id};

    fn read(arguments: Value) -> Result<ExecRequest, BadArguments> {
        ExecRequest::read(&arguments, Languages::Both)
    }

    fn javascript(source: &str) -> ExecRequest {
        ExecRequest {
            source: source.into(),
            language: Language::JavaScript,
            restart_safe: false,
        }
    }

    #[test]
    fn exec_arguments_are_understood_or_refused_with_what_to_do() {
        let cases = [
            (json!({ "code": "return 1" }), Ok(javascript("return 1"))),
            (json!({ "command": "return 1" }), Ok(javascript("return 1"))),
            (
                json!({ "code": "return 1", "command": "return 1", "title": 5 }),
                Ok(javascript("return 1")),
            ),
            (
                json!({ "code": "return 1", "command": "" }),
                Ok(javascript("return 1")),
            ),
            (
                json!({ "code": "return 1", "command": "return 2" }),
                Err(BadArguments::Conflict),
            ),
            (json!({ "code": " \n" }), Err(BadArguments::NoSource)),
            (json!({ "code": 5 }), Err(BadArguments::NoSource)),
            (json!([]), Err(BadArguments::NoSource)),
            (json!("return 1"), Err(BadArguments::NoSource)),
            (Value::Null, Err(BadArguments::NoSource)),
            (
                json!({ "code": "x", "language": "python" }),
                Err(BadArguments::UnknownLanguage),
            ),
            (
                json!({ "code": "x", "language": null }),
                Err(BadArguments::UnknownLanguage),
            ),
            (
                json!({ "code": "x", "restartSafe": "yes" }),
                Err(BadArguments::RestartSafe),
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(read(arguments.clone()), expected, "{arguments}");
        }
    }

    #[test]
    fn a_language_that_is_switched_off_is_refused_and_the_other_named() {
        let typescript = json!({ "code": "return 1", "language": "typescript" });
        let refused = ExecRequest::read(&typescript, Languages::JavaScriptOnly).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "code mode typescript input is disabled. Write the program in javascript."
        );
        let defaulted = ExecRequest::read(&json!({ "code": "return 1" }), Languages::TypeScriptOnly).unwrap();
        assert_eq!(defaulted.language, Language::TypeScript);
    }

    #[test]
    fn a_run_id_is_a_text_that_is_not_blank() {
        assert_eq!(run_id(&json!({ "runId": "cm_1" })), Ok("cm_1"));
        assert_eq!(run_id(&json!({ "run_id": " cm_1 " })), Ok("cm_1"));
        for bad in [
            json!({}),
            json!({ "runId": "" }),
            json!({ "runId": 7 }),
            json!("cm_1"),
        ] {
            assert_eq!(run_id(&bad), Err(BadArguments::NoRunId), "{bad}");
        }
    }
}
