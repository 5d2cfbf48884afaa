//! The demo's workspace: a small web service that takes orders, as it might lie on anybody's disk.

use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

/// Every file of it, by path.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("files/README.md")),
    ("package.json", include_str!("files/package.json")),
    (".env.example", "DATABASE_URL=postgres://orders@localhost/orders\nMAIL_API_KEY=\n"),
    (".env.staging", include_str!("files/env.staging")),
    ("config/live/limits.toml", include_str!("files/limits.toml")),
    ("config/live/mail.toml", include_str!("files/mail.toml")),
    ("config/staging/limits.toml", "[orders]\nper_minute = 600\nburst = 100\n"),
    ("src/server.ts", include_str!("files/server.ts")),
    ("src/orders.ts", include_str!("files/orders.ts")),
    ("src/limits.ts", include_str!("files/limits.ts")),
    ("src/mail.ts", include_str!("files/mail.ts")),
    ("migrations/0001_orders.sql", include_str!("files/0001_orders.sql")),
    ("migrations/0002_customers.sql", include_str!("files/0002_customers.sql")),
    ("migrations/0003_drop_coupons.sql", "-- Coupons were never shipped.\nDROP TABLE coupons;\n"),
    ("docs/api.md", include_str!("files/api.md")),
    ("docs/runbook.md", include_str!("files/runbook.md")),
    ("scripts/report.sh", include_str!("files/report.sh")),
    ("tests/orders.test.ts", include_str!("files/orders.test.ts")),
    ("tests/limits.test.ts", include_str!("files/limits.test.ts")),
    ("reports/.gitkeep", ""),
    (".tracker/comments.jsonl", ""),
];

/// Makes the workspace in an empty folder. `config/current` is a link to `config/live`.
pub(super) fn make(root: &Path) -> io::Result<()> {
    for (path, content) in FILES {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, content)?;
    }
    std::os::unix::fs::symlink("live", root.join("config/current"))?;
    fs::set_permissions(root.join("scripts/report.sh"), fs::Permissions::from_mode(0o755))
}
