//! The second guard against answering by accident: an answer that comes sooner after its card was shown than anybody
//! can read is refused here too, whatever the window does.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use placet_domain::{ApprovalId, Digest, Refusal, RefusalCode};

use crate::clock::boot_ms;

/// How long a card must have been on the screen. The window arms at 500 ms; messages take some of it.
const ARM_MS: i64 = 450;
/// The same for a grave call: armed after 1,000 ms and held for 1,500 ms.
const ARM_GRAVE_MS: i64 = 2_400;

/// When which card was shown. Kept for the cards on the screen only.
#[derive(Debug, Default)]
pub(crate) struct Armed {
    shown: Mutex<HashMap<ApprovalId, (Digest, i64)>>,
}

impl Armed {
    /// A card came on the screen, or changed there; any other has left it. Showing the same card again does not start
    /// anew.
    pub(crate) fn shown(&self, id: ApprovalId, digest: Digest) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|other, _| *other == id);
        if shown.get(&id).is_none_or(|(before, _)| *before != digest) {
            shown.insert(id, (digest, boot_ms()));
        }
    }

    /// A card was answered.
    pub(crate) fn hidden(&self, id: ApprovalId) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Refuses a no to an approval whose card was not on the screen for long enough, whichever card that is: a no to an
    /// older one is a no all the same.
    pub(crate) fn check_seen(&self, id: ApprovalId) -> Result<(), Refusal> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match shown.get(&id) {
            Some((_, since)) if boot_ms() - since >= ARM_MS => Ok(()),
            _ => {
                Err(RefusalCode::NotArmed.because("The answer came before the card could be read. Look, then answer."))
            }
        }
    }

    /// Refuses an answer to a card that was not on the screen for long enough.
    pub(crate) fn check(&self, id: ApprovalId, digest: Digest, grave: bool) -> Result<(), Refusal> {
        let needed = if grave { ARM_GRAVE_MS } else { ARM_MS };
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match shown.get(&id) {
            Some((seen, since)) if *seen == digest && boot_ms() - since >= needed => Ok(()),
            Some((seen, _)) if *seen != digest => {
                Err(RefusalCode::StaleDigest { digest: *seen }.because("The card on the screen is another one by now."))
            }
            _ => {
                Err(RefusalCode::NotArmed.because("The answer came before the card could be read. Look, then answer."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> ApprovalId {
        "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap()
    }

    #[test]
    fn what_was_never_shown_takes_no_answer() {
        let armed = Armed::default();
        assert_eq!(armed.check(id(), Digest::new([1; 32]), false).unwrap_err().code, RefusalCode::NotArmed);
    }

    #[test]
    fn a_card_just_shown_takes_no_answer_and_a_changed_card_is_stale() {
        let armed = Armed::default();
        armed.shown(id(), Digest::new([1; 32]));
        assert_eq!(armed.check(id(), Digest::new([1; 32]), false).unwrap_err().code, RefusalCode::NotArmed);
        assert_eq!(
            armed.check(id(), Digest::new([2; 32]), false).unwrap_err().code,
            RefusalCode::StaleDigest { digest: Digest::new([1; 32]) }
        );
    }

    #[test]
    fn a_card_shown_long_enough_takes_an_answer_and_a_grave_one_needs_longer() {
        let armed = Armed::default();
        let digest = Digest::new([1; 32]);
        armed.shown.lock().unwrap().insert(id(), (digest, boot_ms() - ARM_MS));
        assert!(armed.check(id(), digest, false).is_ok());
        assert_eq!(armed.check(id(), digest, true).unwrap_err().code, RefusalCode::NotArmed);
        armed.shown(id(), digest);
        assert!(armed.check(id(), digest, false).is_ok(), "showing the same card again does not start anew");
        armed.hidden(id());
        assert!(armed.check(id(), digest, false).is_err());
    }
}
