//! Rows from PostgreSQL.

use actix_web::web::{Data, Json};
use deadpool_postgres::Pool;

use crate::{
    database::{User, first_users},
    error::Error,
};

pub async fn list(database: Data<Option<Pool>>) -> Result<Json<Vec<User>>, Error> {
    let pool = database.as_ref().as_ref().ok_or(Error::NoDatabase)?;
    let users = first_users(pool).await.map_err(Error::Database)?;
    Ok(Json(users))
}
