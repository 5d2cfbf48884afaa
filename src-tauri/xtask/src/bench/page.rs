//! The table's place in `docs/performance.md`.

use std::fs;

use crate::house;

const BEGIN: &str = "<!-- measured by `cargo xtask bench`: begin -->";
const END: &str = "<!-- measured by `cargo xtask bench`: end -->";

/// Replaces what stands between the marks.
pub(super) fn write(machine: &str, table: &str) -> Result<(), String> {
    let page = house::root().join("docs/performance.md");
    let text = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    let whole = (|| {
        let (before, rest) = text.split_once(BEGIN)?;
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{BEGIN}\n\n{machine}\n\n{table}\n{END}{after}"))
    })();
    let whole = whole.ok_or_else(|| format!("{} has lost its marks", page.display()))?;
    fs::write(&page, whole).map_err(|error| format!("{}: {error}", page.display()))
}
