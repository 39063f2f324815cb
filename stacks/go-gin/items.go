package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	readItem    = "select id, name, price from items where id = $1"
	listItems   = "select id, name, price from items where id > $1 order by id limit $2"
	createItem  = "insert into items (name, price) values ($1, $2) returning id, name, price"
	replaceItem = "update items set name = $2, price = $3 where id = $1 returning id, name, price"
	deleteItem  = "delete from items where id = $1"
)

type item struct {
	ID    int32  `json:"id"`
	Name  string `json:"name"`
	Price int32  `json:"price"`
}

type itemURI struct {
	ID int32 `uri:"id" binding:"min=1"`
}

type itemsQuery struct {
	After int32 `form:"after" binding:"min=0"`
	Limit int32 `form:"limit,default=20" binding:"min=1,max=100"`
}

// itemRequest has a pointer to tell a missing (or null) price from a 0. PostgreSQL has no text with a NUL.
type itemRequest struct {
	Name  string `json:"name" binding:"required,max=100,excludes=\x00"`
	Price *int32 `json:"price" binding:"required,min=0,max=1000000"`
}

type itemsHandler struct {
	pool *pgxpool.Pool
}

func (h itemsHandler) list(c *gin.Context) {
	var query itemsQuery
	if c.BindQuery(&query) != nil {
		return // It has answered 400, as the other bindings do.
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, listItems, query.After, query.Limit)
	items, err := pgx.CollectRows(rows, pgx.RowToStructByPos[item])
	if err != nil {
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("list the items: %w", err))
		return
	}
	c.JSON(http.StatusOK, items)
}

func (h itemsHandler) read(c *gin.Context) {
	var uri itemURI
	if c.BindUri(&uri) != nil {
		return
	}
	if found, ok := h.one(c, readItem, uri.ID); ok {
		c.JSON(http.StatusOK, found)
	}
}

func (h itemsHandler) create(c *gin.Context) {
	var request itemRequest
	if c.BindJSON(&request) != nil {
		return
	}
	if created, ok := h.one(c, createItem, request.Name, request.Price); ok {
		c.Header("Location", fmt.Sprintf("/items/%d", created.ID))
		c.JSON(http.StatusCreated, created)
	}
}

func (h itemsHandler) replace(c *gin.Context) {
	var uri itemURI
	var request itemRequest
	if c.BindUri(&uri) != nil || c.BindJSON(&request) != nil {
		return
	}
	if replaced, ok := h.one(c, replaceItem, uri.ID, request.Name, request.Price); ok {
		c.JSON(http.StatusOK, replaced)
	}
}

func (h itemsHandler) delete(c *gin.Context) {
	var uri itemURI
	if c.BindUri(&uri) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
	defer cancel()
	deleted, err := h.pool.Exec(ctx, deleteItem, uri.ID)
	switch {
	case err != nil:
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("delete an item: %w", err))
	case deleted.RowsAffected() == 0:
		c.AbortWithStatus(http.StatusNotFound)
	default:
		c.Status(http.StatusNoContent)
	}
}

// one is the item that a statement reads or writes, or answers that there is none.
func (h itemsHandler) one(c *gin.Context, statement string, arguments ...any) (found item, ok bool) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
	defer cancel()
	rows, _ := h.pool.Query(ctx, statement, arguments...)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[item])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		c.AbortWithStatus(http.StatusNotFound)
	case err != nil:
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("read or write an item: %w", err))
	}
	return found, err == nil
}
