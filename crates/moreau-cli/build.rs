//! The commit that the command is built from, for the recordings and metrics that it writes.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // A packaged crate may lie inside a repository that is not its own.
    let own = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit = git(&["rev-parse", "HEAD"]).filter(|_| own);
    println!(
        "cargo::rustc-env=MOREAU_COMMIT={}",
        commit.as_deref().unwrap_or("unknown")
    );
    println!("cargo::rerun-if-changed=build.rs");
    // Where the commit is noted: the head, and the branch that it names.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|_| own) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
