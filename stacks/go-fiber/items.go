package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v3"
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
	ID int32 `uri:"id" validate:"min=1"`
}

type itemsQuery struct {
	After int32 `query:"after" validate:"min=0"`
	Limit int32 `query:"limit,default:20" validate:"min=1,max=100"`
}

// itemRequest has a pointer to tell a missing (or null) price from a 0. PostgreSQL has no text with a NUL.
type itemRequest struct {
	Name  string `json:"name" validate:"required,max=100,excludes=\x00"`
	Price *int32 `json:"price" validate:"required,min=0,max=1000000"`
}

type itemsHandler struct {
	pool *pgxpool.Pool
}

func (h itemsHandler) list(c fiber.Ctx) error {
	var query itemsQuery
	if err := c.Bind().WithAutoHandling().Query(&query); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, listItems, query.After, query.Limit)
	items, err := pgx.CollectRows(rows, pgx.RowToStructByPos[item])
	if err != nil {
		return fmt.Errorf("list the items: %w", err)
	}
	return c.JSON(items)
}

func (h itemsHandler) read(c fiber.Ctx) error {
	var uri itemURI
	if err := c.Bind().WithAutoHandling().URI(&uri); err != nil {
		return err
	}
	found, err := h.one(c, readItem, uri.ID)
	if err != nil {
		return err
	}
	return c.JSON(found)
}

func (h itemsHandler) create(c fiber.Ctx) error {
	var request itemRequest
	if err := bindJSON(c, &request); err != nil {
		return err
	}
	created, err := h.one(c, createItem, request.Name, request.Price)
	if err != nil {
		return err
	}
	c.Location(fmt.Sprintf("/items/%d", created.ID))
	return c.Status(fiber.StatusCreated).JSON(created)
}

func (h itemsHandler) replace(c fiber.Ctx) error {
	var uri itemURI
	if err := c.Bind().WithAutoHandling().URI(&uri); err != nil {
		return err
	}
	var request itemRequest
	if err := bindJSON(c, &request); err != nil {
		return err
	}
	replaced, err := h.one(c, replaceItem, uri.ID, request.Name, request.Price)
	if err != nil {
		return err
	}
	return c.JSON(replaced)
}

func (h itemsHandler) delete(c fiber.Ctx) error {
	var uri itemURI
	if err := c.Bind().WithAutoHandling().URI(&uri); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	deleted, err := h.pool.Exec(ctx, deleteItem, uri.ID)
	if err != nil {
		return fmt.Errorf("delete an item: %w", err)
	}
	if deleted.RowsAffected() == 0 {
		return fiber.ErrNotFound
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// one is the item that a statement reads or writes; the error is fiber.ErrNotFound if there is none.
func (h itemsHandler) one(c fiber.Ctx, statement string, arguments ...any) (item, error) {
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	rows, _ := h.pool.Query(ctx, statement, arguments...)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[item])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return item{}, fiber.ErrNotFound
	case err != nil:
		return item{}, fmt.Errorf("read or write an item: %w", err)
	}
	return found, nil
}
