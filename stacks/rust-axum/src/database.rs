//! PostgreSQL, over a pool.

use std::{error::Error, time::Duration};

use deadpool_postgres::{BuildError, Manager, ManagerConfig, Pool, RecyclingMethod};
use tokio::time::timeout;
use tokio_postgres::{Config, NoTls, Row, types::ToSql};

/// For all that a request needs: a free connection or a new one, and the rows.
pub const PATIENCE: Duration = Duration::from_secs(10);

pub type Cause = Box<dyn Error + Send + Sync>;
pub type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A pool that connects when it is first asked.
pub fn pool(mut config: Config, size: usize) -> Result<Pool, BuildError> {
    // PostgreSQL ends a statement that nobody waits for any more: its connection is back in the pool.
    let options = config.get_options().unwrap_or_default();
    let options = format!("{options} -c statement_timeout=10s");
    config.options(options).tcp_user_timeout(PATIENCE);
    let recycling = ManagerConfig {
        // Asks the client whether its connection is closed, and not the database.
        recycling_method: RecyclingMethod::Fast,
    };
    Pool::builder(Manager::from_config(config, NoTls, recycling))
        .max_size(size)
        .build()
}

/// The rows of a statement, which each connection prepares once.
pub async fn query(
    pool: &Pool,
    sql: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Row>, Cause> {
    timeout(PATIENCE, async {
        let client = pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.query(&statement, parameters).await?)
    })
    .await?
}

/// How many rows a statement has changed; it is prepared as for [`query`].
pub async fn execute(pool: &Pool, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, Cause> {
    timeout(PATIENCE, async {
        let client = pool.get().await?;
        let statement = client.prepare_cached(sql).await?;
        Ok(client.execute(&statement, parameters).await?)
    })
    .await?
}
