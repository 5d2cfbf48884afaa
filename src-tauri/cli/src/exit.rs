//! What the exit codes mean. `hook` uses its client's instead.

use std::process::ExitCode;

/// Done.
pub(crate) const DONE: ExitCode = ExitCode::SUCCESS;

/// The answer is no: a denial, a broken chain, an invalid policy, a call that is refused.
pub(crate) fn no() -> ExitCode {
    ExitCode::from(1)
}

/// The command line or what stands on stdin is not what is needed.
pub(crate) fn usage() -> ExitCode {
    ExitCode::from(2)
}

/// The gate cannot be reached.
pub(crate) fn unreachable() -> ExitCode {
    ExitCode::from(3)
}
