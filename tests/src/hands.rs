//! Hands on the window: keys that go down and stay down, a pointer that moves, and a person without a pointer.

use serde_json::{Value, json};

use crate::program::eventually;
use crate::window::{SHOWN_WITHIN, Window};

/// Keys without a letter, as WebDriver names them.
pub mod key {
    /// Enter.
    pub const ENTER: &str = "\u{E007}";
    /// Escape.
    pub const ESCAPE: &str = "\u{E00C}";
    /// Tab.
    pub const TAB: &str = "\u{E004}";
    /// Shift.
    pub const SHIFT: &str = "\u{E008}";
    /// Control.
    pub const CONTROL: &str = "\u{E009}";
    /// Arrow right.
    pub const RIGHT: &str = "\u{E014}";
    /// Backspace.
    pub const BACKSPACE: &str = "\u{E003}";
    /// End.
    pub const END: &str = "\u{E010}";
}

/// Tabs that reach every control of any place.
const FAR_ENOUGH: usize = 120;

impl Window {
    /// Presses and releases one key with whatever has the focus.
    pub fn press(&self, key: &str) {
        self.keys(&[("keyDown", key), ("keyUp", key)]);
    }

    /// Presses a key while another is held.
    pub fn press_with(&self, held: &str, key: &str) {
        self.keys(&[("keyDown", held), ("keyDown", key), ("keyUp", key), ("keyUp", held)]);
    }

    /// A key goes down and stays down; the same again is what the keyboard repeats.
    pub fn key_down(&self, key: &str) {
        self.keys(&[("keyDown", key)]);
    }

    /// The key comes up.
    pub fn key_up(&self, key: &str) {
        self.keys(&[("keyUp", key)]);
    }

    /// Types with the keyboard into whatever has the focus.
    pub fn type_keys(&self, text: &str) {
        for letter in text.chars() {
            self.press(&letter.to_string());
        }
    }

    /// Goes on by the tabulator key until this control has the focus.
    pub fn tab_to(&self, testid: &str) {
        let mut passed = Vec::new();
        for _ in 0..FAR_ENOUGH {
            let here = self.focused();
            if here == testid {
                return;
            }
            passed.push(here);
            self.press(key::TAB);
        }
        panic!("no tabulator leads to {testid}; it went by {passed:?}");
    }

    /// The `data-testid` of what has the focus.
    pub fn focused(&self) -> String {
        let focused = self.script("return document.activeElement?.closest('[data-testid]')?.dataset.testid ?? ''");
        focused.as_str().unwrap_or_default().to_owned()
    }

    /// Moves the pointer to the middle of what has this `data-testid`.
    pub fn point_at(&self, testid: &str) {
        let (x, y) = self.middle(testid);
        self.pointer(&[json!({"type": "pointerMove", "duration": 0, "x": x, "y": y})]);
    }

    /// The pointer's button goes down where the pointer is.
    pub fn pointer_down(&self) {
        self.pointer(&[json!({"type": "pointerDown", "button": 0})]);
    }

    /// The pointer's button comes up.
    pub fn pointer_up(&self) {
        self.pointer(&[json!({"type": "pointerUp", "button": 0})]);
    }

    /// Waits until a text of the page holds these words.
    pub fn until_text(&self, testid: &str, words: &str) {
        let what = format!("{testid} with {words:?}");
        eventually(SHOWN_WITHIN, &what, || self.text(testid).contains(words).then_some(()));
    }

    fn middle(&self, testid: &str) -> (i64, i64) {
        let found = eventually(SHOWN_WITHIN, testid, || {
            let found = self.script(&format!(
                "const box = document.querySelector('[data-testid=\"{testid}\"]')?.getBoundingClientRect();
                 return box && [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)]"
            ));
            Some((found[0].as_i64()?, found[1].as_i64()?))
        });
        assert!(found.0 > 0 && found.1 > 0, "{testid} is not on the screen: {found:?}");
        found
    }

    fn keys(&self, steps: &[(&str, &str)]) {
        let steps: Vec<Value> = steps.iter().map(|(kind, key)| json!({"type": kind, "value": key})).collect();
        self.act(&json!({"type": "key", "id": "keyboard", "actions": steps}));
    }

    fn pointer(&self, steps: &[Value]) {
        self.act(&json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}));
    }
}
