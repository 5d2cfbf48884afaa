//! What is kept of a call that holds secrets: its input and its card with these masked, beside those that are needed for
//! as long as the call may be answered.

use std::sync::Arc;

use placet_domain::{CallFacts, Digest, Judged, Masked, Refusal, RefusalCode, State, call::OnForm, redacted};
use placet_store::Body;
use placet_subject::Known;

use crate::corridor;

/// Inputs up to this many bytes are masked where they are; larger ones beside the other tasks.
const SMALL: usize = 64 * 1024;

/// Input and card as they are, and as they are kept.
#[derive(Debug)]
pub(crate) struct Bodies {
    input: Body,
    pub(crate) card: Body,
    kept: Vec<Body>,
}

impl Bodies {
    /// All that may have to be written.
    pub(crate) fn into_all(self) -> Vec<Body> {
        let mut all = vec![self.input, self.card];
        all.extend(self.kept);
        all
    }
}

/// A grant must not hold a secret, so none is given for words that do: such a call can be granted as itself alone.
pub(crate) fn restrict(facts: &mut CallFacts) {
    if redacted::call(facts).is_some() {
        facts.grantable.retain(|form| match form {
            OnForm::Exact | OnForm::Path | OnForm::Folder | OnForm::Origin | OnForm::McpTool => true,
            OnForm::Url | OnForm::UrlPrefix | OnForm::Command | OnForm::CommandPrefix => false,
        });
    }
}

/// The bodies of a call; its facts name those that are masked. `original` is its input before the policy's rewrites.
pub(crate) async fn bodies(
    judged: Judged,
    input: Arc<[u8]>,
    original: Option<Body>,
) -> Result<(Judged, Bodies), Refusal> {
    if input.len() <= SMALL {
        return masked(judged, &input, original);
    }
    let masking = tokio::task::spawn_blocking(move || masked(judged, &input, original));
    masking.await.unwrap_or_else(|_| Err(RefusalCode::Closing.because("Placet is closing; nothing was allowed.")))
}

fn masked(mut judged: Judged, input: &[u8], original: Option<Body>) -> Result<(Judged, Bodies), Refusal> {
    let mut names = Masked::default();
    let mut kept = Vec::new();
    let mut keep = |bytes: Option<Vec<u8>>| {
        let body = bytes.map(body)?;
        let name = body.sha256;
        kept.push(body);
        Some(name)
    };
    names.input = keep(redacted::input(input));
    names.card = keep(masked_card(&judged)?);
    if let Some(original) = original {
        names.original = keep(redacted::input(&original.bytes));
        if names.original.is_none() {
            kept.push(original);
        }
    }
    judged.facts.masked = (names != Masked::default()).then(|| Box::new(names));
    let input = Body { sha256: judged.facts.raw_sha256, bytes: input.to_vec() };
    let card = card_body(&judged)?;
    Ok((judged, Bodies { input, card, kept }))
}

/// A card that takes the place of another: its call, which names what is kept, the card's digest, and the bodies.
pub(crate) fn card(mut judged: Judged) -> Result<(Judged, Digest, Vec<Body>), Refusal> {
    let card = card_body(&judged)?;
    let digest = card.sha256;
    let mut bodies = vec![card];
    let kept = masked_card(&judged)?.map(body);
    let mut names = judged.facts.masked.as_deref().cloned().unwrap_or_default();
    names.card = kept.as_ref().map(|kept| kept.sha256);
    bodies.extend(kept);
    judged.facts.masked = (names != Masked::default()).then(|| Box::new(names));
    Ok((judged, digest, bodies))
}

/// After a restart the facts of what waits come from the history, without their secrets: rules and grants look at the
/// call as it is, so it is read again from its input. One that is another by now stays as it was, until it is refreshed
/// or void.
pub(crate) fn unmask(state: &mut State, known: &Known) {
    for approval in state.approvals.values_mut() {
        let facts = &approval.judged.facts;
        let Some(session) = state.sessions.get(&approval.session).filter(|_| facts.masked.is_some()) else { continue };
        let Ok(input) = serde_json::to_vec(&*approval.judged.input) else { continue };
        let again = corridor::again(approval, input.into());
        let mut now = corridor::look(&again, session.agent.as_str(), &session.workspace, known).facts;
        if now.digest == facts.digest {
            now.raw_sha256 = facts.raw_sha256;
            now.masked.clone_from(&facts.masked);
            now.rewritten.clone_from(&facts.rewritten);
            approval.judged.facts = now;
        }
    }
}

fn masked_card(judged: &Judged) -> Result<Option<Vec<u8>>, Refusal> {
    redacted::card(&judged.card).map(|card| serde_json::to_vec(&card).map_err(|e| unwritable(&e))).transpose()
}

fn card_body(judged: &Judged) -> Result<Body, Refusal> {
    serde_json::to_vec(&*judged.card).map(body).map_err(|error| unwritable(&error))
}

fn body(bytes: Vec<u8>) -> Body {
    Body { sha256: crate::sha256(&bytes), bytes }
}

fn unwritable(error: &serde_json::Error) -> Refusal {
    RefusalCode::InvalidParams.because(error.to_string())
}
