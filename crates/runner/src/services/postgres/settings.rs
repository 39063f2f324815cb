//! The settings of a database that holds nothing worth keeping and shall not be what limits a stack.

use std::{net::IpAddr, path::Path};

/// The longest path of a socket is 107 bytes, of which the server needs some (unix(7)).
const MAX_SOCKET_FOLDER: usize = 80;

/// Lines for the end of `postgresql.conf`. The socket is in `folder`.
pub(super) fn text(folder: &Path, listen: IpAddr, count_statements: bool, major: u32) -> String {
    let folder = folder.display().to_string();
    let sockets = if folder.len() > MAX_SOCKET_FOLDER {
        ""
    } else {
        &folder
    };
    let sockets = sockets.replace('\'', "''");
    let libraries = if count_statements {
        "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.save = off\n"
    } else {
        ""
    };
    let preallocated = if major >= 14 {
        "min_dynamic_shared_memory = '8MB'\n"
    } else {
        ""
    };
    format!(
        "
# Deadheat: reached on this address only.
listen_addresses = '{listen}'
unix_socket_directories = '{sockets}'
# 400 clients that connect for each request, whose connections overlap, the pools of the servers that are alive beside
# the one that is asked, and some more.
max_connections = 1000
# Nothing here is worth keeping.
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
# The table fits many times; nothing runs on its own while a stack is measured.
shared_buffers = '64MB'
autovacuum = off
checkpoint_timeout = '1h'
jit = off
# No statement is logged.
log_statement = none
log_min_duration_statement = -1
log_connections = off
log_disconnections = off
log_checkpoints = off
logging_collector = off
log_destination = 'stderr'
# Whose statement it is, for the check that counts them.
log_line_prefix = '%u '
# What is not preallocated is a file in the cluster, which goes with it, also if the server is killed.
dynamic_shared_memory_type = mmap
{preallocated}{libraries}"
    )
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_extension_is_loaded_only_where_it_is() {
        let text = |folder: &Path, count| text(folder, Ipv4Addr::LOCALHOST.into(), count, 15);
        let folder = Path::new("/tmp/it's");
        assert!(text(folder, true).contains("'pg_stat_statements'"));
        assert!(!text(folder, false).contains("pg_stat_statements"));
        assert!(text(folder, false).contains("unix_socket_directories = '/tmp/it''s'"));
        let long = format!("/tmp/{}", "x".repeat(100));
        assert!(text(Path::new(&long), false).contains("unix_socket_directories = ''"));
    }
}
