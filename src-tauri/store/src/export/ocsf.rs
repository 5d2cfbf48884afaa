//! OCSF API Activity (class 6003) with the profile `security_control`, as of schema 1.5.0.

use std::io::Write;

use placet_domain::Action;
use serde_json::{Value, json};

use crate::{CallDecision, CallRow, StoreError};

pub(super) fn write(out: &mut dyn Write, row: &CallRow) -> Result<(), StoreError> {
    super::line(out, &event(row))
}

fn event(row: &CallRow) -> Value {
    let activity = activity(row.action);
    let (action, disposition) = control(row.decision);
    json!({
        "class_uid": 6003,
        "category_uid": 6,
        "activity_id": activity,
        "type_uid": 600_300 + activity,
        "time": row.at_ms.0,
        "severity_id": 1,
        "status_id": match action { 1 => 1, 2 => 2, _ => 0 },
        "status_detail": row.decision.word(),
        "action_id": action,
        "disposition_id": disposition,
        "message": row.note,
        "duration": row.duration_ms,
        "metadata": {
            "version": "1.5.0",
            "profiles": ["security_control"],
            "uid": row.seq.to_string(),
            "product": {"name": "Placet", "vendor_name": "Placet"},
        },
        "actor": {"app_name": row.agent.as_str(), "session": {"uid": row.session.to_string()}},
        "api": {"operation": row.tool, "service": {"name": row.agent.as_str()}},
        "resources": [{"name": row.subject_text, "type": row.action.word()}],
        "src_endpoint": {"name": "localhost"},
        "firewall_rule": row.rule.as_ref().map(|rule| json!({"name": rule})),
        "unmapped": {
            "approval": row.approval.map(|a| a.to_string()),
            "grant": row.grant.map(|g| g.to_string()),
            "by": row.by,
            "digest": row.digest.map(|d| d.to_string()),
            "action_digest": row.action_digest.to_string(),
            "outcome": row.outcome,
            "waited_ms": row.waited_ms,
            "flags": row.flags.iter().map(|f| f.word()).collect::<Vec<_>>(),
        },
    })
}

/// Create 1, Read 2, Update 3, Delete 4, Other 99.
fn activity(action: Action) -> u32 {
    match action {
        Action::Search | Action::List | Action::Read | Action::Fetch => 2,
        Action::Write => 3,
        Action::Delete => 4,
        Action::None | Action::Execute | Action::Send | Action::Other => 99,
    }
}

/// `action_id` (Unknown 0, Allowed 1, Denied 2) and `disposition_id`.
fn control(decision: CallDecision) -> (u8, u8) {
    match decision {
        CallDecision::AllowedByRule | CallDecision::AllowedByGrant => (1, 1),
        CallDecision::Approved | CallDecision::Consumed => (1, 8),
        CallDecision::DeniedByRule
        | CallDecision::DeniedByGrant
        | CallDecision::DeniedByDefault
        | CallDecision::DeniedByPause
        | CallDecision::Refused
        | CallDecision::NobodyToAsk
        | CallDecision::RepeatedDenial
        | CallDecision::TooManyWaiting => (2, 2),
        CallDecision::Denied
        | CallDecision::Expired
        | CallDecision::Cancelled
        | CallDecision::Lapsed
        | CallDecision::Void => (2, 25),
        CallDecision::Pending => (0, 23),
        CallDecision::Unasked => (0, 0),
    }
}
