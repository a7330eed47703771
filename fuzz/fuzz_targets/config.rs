//! Files that people write, and other programs: read as far as they go, with a list of what is wrong.

#![no_main]

use libfuzzer_sys::fuzz_target;

use crate::config::{Document, Loaded, Shape, load_documents};

// As the gateway sees it: `codecell::tools`.
extern crate self as codecell;
pub use codecell_tools as tools;

#[path = "../../crates/gateway/src/config/mod.rs"]
#[expect(dead_code, unused_imports, reason = "reading is all that is done here")]
mod config;

/// Stands for every secret of the environment.
const CANARY: &str = "c4n4ry-0f-the-3nvir0nment";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for shape in [Shape::Own, Shape::Host] {
        let document = Document {
            file: "a.json5".into(),
            shape,
            text: text.to_owned(),
        };
        let once = load(std::slice::from_ref(&document));
        for problem in &once.problems {
            let shown = problem.to_string();
            // Each says where, and whatever stands in the environment stays there; but a file that is missing is named.
            assert!(problem.file == document.file && !problem.message.is_empty());
            assert!(
                !shown.contains(CANARY) || problem.path.ends_with(".envFile"),
                "{shown}"
            );
        }
        assert_eq!(once, load(std::slice::from_ref(&document)), "read twice");
        let worst = once.problems.iter().map(|problem| problem.severity).max();
        assert_eq!(once.worst(), worst);

        // The same file again says the same again: later values win, and these are no other ones.
        let twice = load(&[document.clone(), document]);
        assert_eq!(twice.config, once.config);

        // A server is there once, whoever else was refused.
        let mut names: Vec<&str> = once
            .config
            .servers
            .iter()
            .map(|server| server.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), once.config.servers.len());
    }
});

fn load(documents: &[Document]) -> Loaded {
    load_documents(documents, &|name| {
        (!name.starts_with('_')).then(|| CANARY.to_owned())
    })
}
