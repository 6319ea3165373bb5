//! Opens a store for writing: what recovery decided becomes the state of the writer.

use super::config::LogConfig;
use super::io::Io;
use super::order::Order;
use crate::backend::Error;
use crate::machine::Machine;
use crate::storage::Volume;
use std::path::Path;
use std::sync::Arc;

/// Makes the directory of a store where there is none.
pub(crate) fn make_dir(
    _volume: &dyn Volume,
    _dir: &Path,
    _config: &LogConfig,
) -> Result<(), Error> {
    unimplemented!()
}

/// Opens the store in a directory, whose lock is held.
pub(crate) fn open(
    _volume: &Arc<dyn Volume>,
    _dir: &Path,
    _machine: &Arc<dyn Machine>,
    _config: &LogConfig,
) -> Result<(Order, Io), Error> {
    unimplemented!()
}
