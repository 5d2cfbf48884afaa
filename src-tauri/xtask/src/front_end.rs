//! The front end's packages and its build.

use std::fs;

use crate::house;
use crate::newer::is_stale;
use crate::program::Program;

/// Installs the locked npm packages if they are missing or the lock has changed since.
pub(crate) fn install_packages() -> Result<(), String> {
    let ui = house::ui();
    let stamp = ui.join("node_modules/.package-lock.json");
    if is_stale(&stamp, &[&ui.join("package-lock.json")]) {
        println!("The front end's npm packages are missing or out of date and will be installed by npm.");
        Program::npm(&["ci", "--no-audit", "--no-fund"]).run()?;
        touch(&stamp)?;
    }
    Ok(())
}

/// Builds `ui/dist` if its sources have changed since it was made.
pub(crate) fn build_if_stale() -> Result<(), String> {
    let ui = house::ui();
    let made = ui.join("dist/index.html");
    let sources = ["src", "index.html", "package-lock.json", "svelte.config.js", "tsconfig.json", "vite.config.ts"];
    let sources: Vec<_> = sources.iter().map(|source| ui.join(source)).collect();
    let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
    // The Rust build leaves a page that says so where no front end was built yet.
    let placeholder = fs::read_to_string(&made).is_ok_and(|page| !page.contains("<script"));
    if placeholder || is_stale(&made, &sources) { Program::npm(&["run", "build"]).run() } else { Ok(()) }
}

/// npm keeps the time of the package that changed last; what counts for us is when it looked.
fn touch(path: &std::path::Path) -> Result<(), String> {
    let file = fs::File::options().append(true).open(path);
    file.and_then(|file| file.set_modified(std::time::SystemTime::now()))
        .map_err(|error| format!("cannot touch {}: {error}", path.display()))
}
