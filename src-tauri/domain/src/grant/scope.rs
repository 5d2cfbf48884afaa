//! From a scope, as the person gave it, to the grant that is stored; or why not. Nothing is clamped.

use super::{
    Effect, Grant, GrantState, GrantWho, On, Scope, ScopeAction, ScopeWho,
    cover::{Covers, allows, denies, origin_of},
    index::MOST_WORDS,
    sentence::sentence,
};
use crate::{
    Action, Approval, At, By, CallFacts, GrantId, PathText, Refusal, RefusalCode, Session, State, Subject,
    call::OnForm,
    subject::PathSubject,
    time::{MAX_GRANT_MS, MAX_TIMEOUT_MS, MIN_GRANT_MS},
};

/// What a grant is made from.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) state: &'a State,
    pub(crate) session: &'a Session,
    pub(crate) approval: &'a Approval,
    /// The call it is given for: the approval's, or as the person edited it.
    pub(crate) call: &'a CallFacts,
    pub(crate) id: GrantId,
    pub(crate) scope: &'a Scope,
    pub(crate) effect: Effect,
    pub(crate) by: &'a By,
    pub(crate) now: At,
}

/// The grant a scope stands for.
///
/// # Errors
/// In this order: `not_grantable`, `scope_too_wide`, `bad_expiry`.
pub(crate) fn grant_of(given: &Given<'_>) -> Result<Grant, Refusal> {
    match refusal_of(given) {
        Some(refusal) => Err(refusal),
        None => Ok(row(given)),
    }
}

pub(crate) fn refusal_of(given: &Given<'_>) -> Option<Refusal> {
    not_grantable(given).or_else(|| too_wide(given)).or_else(|| bad_expiry(given.scope))
}

fn not_grantable(given: &Given<'_>) -> Option<Refusal> {
    let refuse = |message: &str| Some(RefusalCode::NotGrantable.because(message));
    let Given { call, scope, effect, .. } = given;
    if about(call, &scope.on).is_none() {
        return refuse("This call has nothing of that kind to give a grant on.");
    }
    if *effect == Effect::Deny {
        return None;
    }
    if call.grantable.is_empty() {
        return refuse("This can only be approved once.");
    }
    if !call.grantable.contains(&form_of(&scope.on)) {
        return refuse("A grant of this form is not possible for this call; take a narrower one.");
    }
    let once_only = call.subjects.iter().any(|subject| match subject {
        Subject::Path(path) => {
            let changes = path.action.strength() >= Action::Write.strength();
            path.protected || (path.hard_linked && changes)
        }
        Subject::Url(url) => url.odd,
        Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => false,
    });
    if once_only {
        return refuse(
            "This touches something that is approved once at a time: settings, keys, files with several names, or an oddly spelled address.",
        );
    }
    let dark = call.subjects.iter().any(|s| matches!(s, Subject::Command(c) if !c.inspectable));
    if dark && !matches!(scope.on, On::Exact(_)) {
        return refuse("A command that cannot be taken apart can be granted for exactly this input only.");
    }
    None
}

fn too_wide(given: &Given<'_>) -> Option<Refusal> {
    let refuse = |message: &str| Some(RefusalCode::ScopeTooWide.because(message));
    let Given { call, scope, effect, session, .. } = given;
    let wide = match &scope.on {
        On::Folder(folder) if *effect == Effect::Allow => {
            let own = |path: &PathSubject| {
                // Outside the workspace, no further up than the folder it lies in.
                let lies_in = |p: &PathText| {
                    if path.is_folder { p == folder || parent(p) == *folder } else { parent(p) == *folder }
                };
                depth(folder) >= 1
                    && path.normalized.is_within(folder)
                    && (folder.is_within(&session.workspace) || (lies_in(&path.normalized) && depth(folder) >= 2))
            };
            !call.subjects.iter().any(|s| matches!(s, Subject::Path(path) if own(path)))
        }
        On::UrlPrefix(prefix) => call
            .subjects
            .iter()
            .any(|s| matches!(s, Subject::Url(url) if origin_of(url) == prefix.trim_end_matches('/'))),
        On::CommandPrefix(words) => {
            let program_alone = |words_of_call: usize| words.len() == 1 && words_of_call > 1;
            words.is_empty()
                || words.len() > MOST_WORDS
                || (*effect == Effect::Allow
                    && call.subjects.iter().any(|s| {
                        matches!(s, Subject::Command(c) if c.commands.first().is_some_and(|p| program_alone(p.argv.len())))
                    }))
        }
        On::Exact(_) | On::Path(_) | On::Folder(_) | On::Url(_) | On::Origin(_) | On::Command(_) | On::McpTool(_) => {
            false
        }
    };
    if wide {
        return refuse("This is wider than the call it would be given for; take a narrower scope.");
    }
    if scope.uses == Some(0) {
        return refuse("A grant of no uses answers nothing; give it at least one.");
    }
    // The surest test of a scope: the grant it makes must cover the very call it is given for.
    let row = Grant { expires_at_ms: given.now.plus_ms(1), uses_left: None, ..row(given) };
    let covers = call.subjects.iter().any(|subject| match effect {
        Effect::Allow => allows(&row, given.state, call, subject, session, given.now) == Covers::Yes,
        Effect::Deny => denies(&row, call, subject, session, given.now),
    });
    if covers { None } else { refuse("This scope does not cover the call it would be given for.") }
}

fn bad_expiry(scope: &Scope) -> Option<Refusal> {
    let most = if scope.who == ScopeWho::Session { MAX_TIMEOUT_MS } else { MAX_GRANT_MS };
    if (MIN_GRANT_MS..=most).contains(&scope.expires_in_ms) {
        return None;
    }
    let words = match scope.who {
        ScopeWho::Session => "A grant for a session lasts a second at least and 24 hours at most.",
        ScopeWho::AgentInWorkspace | ScopeWho::Agent | ScopeWho::Workspace => {
            "A grant lasts a second at least and 30 days at most. What should hold for ever is a rule."
        }
    };
    Some(RefusalCode::BadExpiry.because(words))
}

/// The row that would be stored. Its sentence is made from the row itself.
fn row(given: &Given<'_>) -> Grant {
    let Given { state, session, approval, call, id, scope, effect, by, now } = *given;
    let subject = about(call, &scope.on);
    let is_command = matches!(scope.on, On::Command(_));
    let mut grant = Grant {
        id,
        effect,
        scope: scope.clone(),
        who: match scope.who {
            ScopeWho::Session => GrantWho::Session { session: session.id },
            ScopeWho::AgentInWorkspace => {
                GrantWho::AgentInWorkspace { agent: session.agent.clone(), workspace: session.workspace.clone() }
            }
            ScopeWho::Agent => GrantWho::Agent { agent: session.agent.clone() },
            ScopeWho::Workspace => GrantWho::Workspace { workspace: session.workspace.clone() },
        },
        tool: (scope.action == ScopeAction::Tool).then(|| call.tool.clone()),
        action: subject.map_or(call.action, Subject::action),
        from_approval: approval.id,
        by: by.clone(),
        issued_at_ms: now,
        expires_at_ms: now.plus_ms(scope.expires_in_ms),
        uses_left: scope.uses,
        used: 0,
        last_used_at_ms: None,
        root: scope.on.folder().and_then(|folder| state.roots.get(folder).copied()),
        action_digest: matches!(scope.on, On::Exact(_)).then_some(call.action_digest),
        ran_in: is_command.then(|| call.cwd.clone()),
        beside: if is_command {
            call.subjects.iter().filter(|s| !matches!(s, Subject::Command(_))).cloned().collect()
        } else {
            Vec::new()
        },
        definition: match subject {
            Some(Subject::Mcp(mcp)) if matches!(scope.on, On::McpTool(_) | On::Exact(_)) => mcp.definition,
            _ => None,
        },
        normalizer: state.normalizer.clone(),
        sentence: String::new(),
        state: GrantState::Active,
    };
    grant.sentence = sentence(&grant, &session.agent);
    grant
}

/// The subject of the call that the scope is about: the first of its kind that it fits, else the first of its kind.
fn about<'c>(call: &'c CallFacts, on: &On) -> Option<&'c Subject> {
    let of_kind = |subject: &&Subject| match on {
        On::Exact(_) => true,
        On::Path(_) | On::Folder(_) => matches!(subject, Subject::Path(_)),
        On::Url(_) | On::UrlPrefix(_) | On::Origin(_) => matches!(subject, Subject::Url(_)),
        On::Command(_) | On::CommandPrefix(_) => matches!(subject, Subject::Command(_)),
        On::McpTool(_) => matches!(subject, Subject::Mcp(_)),
    };
    let fits = |subject: &&Subject| match (on, subject) {
        (On::Path(path), Subject::Path(subject)) => subject.normalized == *path,
        (On::Folder(folder), Subject::Path(subject)) => subject.normalized.is_within(folder),
        (On::Url(url), Subject::Url(subject)) => subject.normalized == *url,
        (On::UrlPrefix(text) | On::Origin(text), Subject::Url(subject)) => text.starts_with(&origin_of(subject)),
        _ => true,
    };
    if let On::Exact(_) = on {
        // Everything the call does is granted, so its strongest action is.
        return call.subjects.iter().max_by_key(|s| s.action().strength());
    }
    call.subjects.iter().filter(of_kind).find(fits).or_else(|| call.subjects.iter().find(of_kind))
}

fn form_of(on: &On) -> OnForm {
    match on {
        On::Exact(_) => OnForm::Exact,
        On::Path(_) => OnForm::Path,
        On::Folder(_) => OnForm::Folder,
        On::Url(_) => OnForm::Url,
        On::UrlPrefix(_) => OnForm::UrlPrefix,
        On::Origin(_) => OnForm::Origin,
        On::Command(_) => OnForm::Command,
        On::CommandPrefix(_) => OnForm::CommandPrefix,
        On::McpTool(_) => OnForm::McpTool,
    }
}

fn parent(path: &PathText) -> PathText {
    let bytes = path.bytes();
    let end = bytes.iter().rposition(|b| *b == b'/').unwrap_or(0).max(1);
    PathText::from_bytes(&bytes[..end.min(bytes.len())])
}

fn depth(path: &PathText) -> usize {
    path.bytes().split(|b| *b == b'/').filter(|part| !part.is_empty()).count()
}
