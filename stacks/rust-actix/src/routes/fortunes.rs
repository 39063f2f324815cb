//! Rows from PostgreSQL, in a page of HTML.

use actix_web::web::{Data, Html};
use askama::Template;
use deadpool_postgres::Pool;

use crate::{
    database::{Fortune, all_fortunes},
    error::Error,
};

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page {
    fortunes: Vec<Fortune>,
}

pub async fn list(database: Data<Option<Pool>>) -> Result<Html, Error> {
    let pool = database.as_ref().as_ref().ok_or(Error::NoDatabase)?;
    let mut fortunes = all_fortunes(pool).await.map_err(Error::Database)?;
    fortunes.push(Fortune {
        id: 0,
        message: "Additional fortune added at request time.".to_owned(),
    });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Ok(Html::new(Page { fortunes }.render()?))
}
