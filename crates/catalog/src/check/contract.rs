use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

use super::{
    cost::{Targets, is_affordable, is_meta_schema},
    problem::{Showing, problems},
    relax,
    walk::fits,
};

/// Largest schema that is compiled. The largest known real one has 40 levels and some thousands of values.
const MAX_SCHEMA_DEPTH: usize = 128;
const MAX_SCHEMA_NODES: usize = 100_000;

/// Largest value that is checked; JSON text cannot nest deeper than 128 levels to begin with.
const MAX_VALUE_DEPTH: usize = 128;
const MAX_VALUE_NODES: usize = 250_000;

/// Largest compiled pattern and its scratch space, in bytes: a pattern may not cost more than its tool.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// How much goodwill a schema gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Ours to repair: what cannot be compiled is an error.
    Trusted,
    /// Somebody else's: parts that mean nothing are ignored, and an unusable schema checks nothing.
    Untrusted,
}

/// A compiled schema, or why there is none.
#[derive(Debug)]
pub(super) enum Contract {
    Compiled {
        validator: Box<Validator>,
        schema: Value,
        targets: Targets,
    },
    Unusable(String),
}

/// What a check found.
pub(super) enum Verdict {
    Met,
    Broken(Vec<String>),
    /// No usable schema, or more work than a check may be.
    Unchecked,
}

impl Contract {
    pub(super) fn compile(schema: &Value, trust: Trust) -> Self {
        if !fits(schema, MAX_SCHEMA_DEPTH, MAX_SCHEMA_NODES) {
            return Self::Unusable(format!(
                "more than {MAX_SCHEMA_DEPTH} levels or {MAX_SCHEMA_NODES} values"
            ));
        }
        let mut schema = schema.clone();
        relax::read_as_meant(&mut schema);
        let mut built = build(&schema);
        if built.is_err() {
            // Compiling a pattern is dear, so they are tried one by one only when something is wrong.
            relax::drop_patterns(&mut schema, |pattern| {
                build(&json!({ "pattern": pattern })).is_ok()
            });
            built = build(&schema);
        }
        if built.is_err() && trust == Trust::Untrusted {
            let targets = Targets::of(&schema);
            let unrepaired = schema.clone();
            relax::drop_nonsense(&mut schema, |reference| {
                is_meta_schema(reference) || targets.find(reference, &unrepaired, &unrepaired).is_some()
            });
            built = build(&schema);
        }
        match built {
            Ok(validator) => {
                let targets = Targets::of(&schema);
                Self::Compiled {
                    validator: Box::new(validator),
                    schema,
                    targets,
                }
            }
            Err(reason) => Self::Unusable(reason),
        }
    }

    pub(super) fn unusable(&self) -> Option<&str> {
        match self {
            Self::Compiled { .. } => None,
            Self::Unusable(reason) => Some(reason),
        }
    }

    pub(super) fn check(&self, value: &Value, showing: Showing) -> Verdict {
        let Self::Compiled {
            validator,
            schema,
            targets,
        } = self
        else {
            return Verdict::Unchecked;
        };
        if !fits(value, MAX_VALUE_DEPTH, MAX_VALUE_NODES) || !is_affordable(schema, targets, value) {
            return Verdict::Unchecked;
        }
        if validator.is_valid(value) {
            return Verdict::Met;
        }
        Verdict::Broken(problems(validator, schema, value, showing))
    }
}

/// Compiles without reaching out for anything: no network, no files, patterns that match in linear time.
///
/// `format` is an annotation, as the newer dialects have it: the server knows better what a valid URI is.
fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MAX_PATTERN_BYTES)
                .dfa_size_limit(MAX_PATTERN_BYTES),
        )
        .build(schema)
        .map_err(|error| error.to_string())
}
