//! Remembers the spans of this process, so that a test can look at who is whose child.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};
use tracing_subscriber::util::SubscriberInitExt;

/// One span that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    /// `name=value` of its fields, in order.
    pub(crate) fields: Vec<String>,
    /// The same of the span around it.
    pub(crate) parent: Option<Vec<String>>,
}

/// Spans in the order in which they ended.
#[derive(Clone, Default)]
pub(crate) struct Spans(Arc<Mutex<Vec<Span>>>);

impl Spans {
    /// Listens to every span of the process from now on.
    pub(crate) fn listen() -> Self {
        let spans = Self::default();
        Registry::default().with(spans.clone()).init();
        spans
    }

    pub(crate) fn ended(&self) -> Vec<Span> {
        self.0.lock().unwrap().clone()
    }
}

struct Fields(Vec<String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push(format!("{}={value:?}", field.name()));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields(Vec::new());
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let fields_of = |span: &tracing_subscriber::registry::SpanRef<'_, S>| {
            span.extensions().get::<Fields>().map(|fields| fields.0.clone())
        };
        let ended = Span {
            name: span.name(),
            fields: fields_of(&span).unwrap_or_default(),
            parent: span.parent().and_then(|parent| fields_of(&parent)),
        };
        self.0.lock().unwrap().push(ended);
    }
}
