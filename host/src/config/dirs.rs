//! What the program takes from the operating system: the user's directories and the user. Nothing else reads them.

use crate::{Error, ErrorKind, Owner};
use etcetera::BaseStrategy;
use std::path::PathBuf;

/// The name of the configuration file where none is given.
pub const FILE_NAME: &str = "counterfoil.toml";

/// The program's places in the user's home (XDG base directories).
#[derive(Clone, Debug)]
pub struct Dirs {
    /// Where `counterfoil.toml` is looked for last.
    pub config: PathBuf,
    /// Where the default store is.
    pub state: PathBuf,
    /// Where compiled components are kept.
    pub cache: PathBuf,
}

impl Dirs {
    /// The directories of the user who runs this process.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: the system knows no home directory.
    pub fn of_user() -> Result<Self, Error> {
        let base = etcetera::choose_base_strategy().map_err(no_home)?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        let own = |dir: PathBuf| dir.join("counterfoil");
        Ok(Self { config: own(base.config_dir()), state: own(state), cache: own(base.cache_dir()) })
    }
}

/// Where MCP clients keep their own configurations.
#[derive(Clone, Debug)]
pub struct ClientFolders {
    /// The user's home.
    pub home: PathBuf,
    /// Where desktop applications keep theirs: `Application Support` on macOS, the XDG configuration directory elsewhere.
    pub applications: PathBuf,
    /// The XDG configuration directory; on macOS always `~/.config`.
    pub settings: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `COPILOT_HOME`.
    pub copilot: Option<PathBuf>,
    /// `CLINE_MCP_SETTINGS_PATH`: a file.
    pub cline: Option<PathBuf>,
}

impl ClientFolders {
    /// Those of the user who runs this process.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]: the system knows no home directory.
    pub fn of_user() -> Result<Self, Error> {
        let base = etcetera::choose_base_strategy().map_err(no_home)?;
        let home = base.home_dir().to_owned();
        let (applications, settings) = if cfg!(target_os = "macos") {
            (home.join("Library/Application Support"), home.join(".config"))
        } else {
            (base.config_dir(), base.config_dir())
        };
        let moved = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Ok(Self {
            home,
            applications,
            settings,
            claude: moved("CLAUDE_CONFIG_DIR"),
            codex: moved("CODEX_HOME"),
            copilot: moved("COPILOT_HOME"),
            cline: moved("CLINE_MCP_SETTINGS_PATH"),
        })
    }
}

/// `XDG_STATE_HOME`, where it is set: a program that a client starts does not get it from there.
pub fn state_home() -> Option<PathBuf> {
    std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute())
}

fn no_home(e: etcetera::HomeDirError) -> Error {
    Error::new(ErrorKind::Io, "your home directory cannot be found: set HOME to it").with_source(e)
}

/// The owner of calls where no name is given: the user that the process runs as, by the system's own word and not by an
/// environment variable, which a caller could set.
///
/// # Errors
/// [`ErrorKind::Config`]: the user's name is none that an owner can have.
pub fn os_owner() -> Result<Owner, Error> {
    let uid = rustix::process::getuid().as_raw();
    let name = uzers::get_user_by_uid(uid).and_then(|user| user.name().to_str().map(str::to_owned));
    Owner::new("os", &name.unwrap_or_else(|| format!("uid-{uid}")))
}

/// The program's own file.
pub(super) fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// What to log, where the user asked for more or less than the default: `COUNTERFOIL_LOG`.
pub fn log_filter() -> Option<String> {
    std::env::var("COUNTERFOIL_LOG").ok().filter(|filter| !filter.is_empty())
}
