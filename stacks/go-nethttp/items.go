package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

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

const (
	maxItemName  = 100
	maxItemPrice = 1_000_000
	maxPage      = 100
	defaultPage  = 20
)

type item struct {
	ID    int32  `json:"id"`
	Name  string `json:"name"`
	Price int32  `json:"price"`
}

// itemInput is what a client says of an item. Pointers tell what is missing (or null) from what is empty.
type itemInput struct {
	Name  *string `json:"name"`
	Price *int32  `json:"price"`
}

func (i itemInput) valid() bool {
	if i.Name == nil || i.Price == nil {
		return false
	}
	length := utf8.RuneCountInString(*i.Name)
	// PostgreSQL has no text with a NUL.
	return length >= 1 && length <= maxItemName && !strings.ContainsRune(*i.Name, 0) &&
		*i.Price >= 0 && *i.Price <= maxItemPrice
}

type itemsHandler struct {
	pool *pgxpool.Pool
}

func (h itemsHandler) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	after, err := numberIn(query, "after", 0)
	if err != nil || after < 0 {
		http.Error(w, "after must be a number from 0", http.StatusBadRequest)
		return
	}
	limit, err := numberIn(query, "limit", defaultPage)
	if err != nil || limit < 1 || limit > maxPage {
		http.Error(w, "limit must be a number from 1 to 100", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, listItems, after, limit)
	items, err := pgx.CollectRows(rows, pgx.RowToStructByPos[item])
	if err != nil {
		respondInternalError(w, "list the items", err)
		return
	}
	respondJSON(w, http.StatusOK, items)
}

func (h itemsHandler) read(w http.ResponseWriter, r *http.Request) {
	id, ok := pathID(w, r)
	if !ok {
		return
	}
	if found, ok := h.one(w, r, readItem, id); ok {
		respondJSON(w, http.StatusOK, found)
	}
}

func (h itemsHandler) create(w http.ResponseWriter, r *http.Request) {
	input, ok := readItemInput(w, r)
	if !ok {
		return
	}
	if created, ok := h.one(w, r, createItem, input.Name, input.Price); ok {
		w.Header().Set("Location", fmt.Sprintf("/items/%d", created.ID))
		respondJSON(w, http.StatusCreated, created)
	}
}

func (h itemsHandler) replace(w http.ResponseWriter, r *http.Request) {
	id, ok := pathID(w, r)
	if !ok {
		return
	}
	input, ok := readItemInput(w, r)
	if !ok {
		return
	}
	if replaced, ok := h.one(w, r, replaceItem, id, input.Name, input.Price); ok {
		respondJSON(w, http.StatusOK, replaced)
	}
}

func (h itemsHandler) delete(w http.ResponseWriter, r *http.Request) {
	id, ok := pathID(w, r)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	deleted, err := h.pool.Exec(ctx, deleteItem, id)
	switch {
	case err != nil:
		respondInternalError(w, "delete an item", err)
	case deleted.RowsAffected() == 0:
		respondNoItem(w)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// one is the item that a statement reads or writes, or answers that there is none.
func (h itemsHandler) one(
	w http.ResponseWriter, r *http.Request, statement string, arguments ...any,
) (found item, ok bool) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	rows, _ := h.pool.Query(ctx, statement, arguments...)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[item])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		respondNoItem(w)
	case err != nil:
		respondInternalError(w, "read or write an item", err)
	}
	return found, err == nil
}

// pathID is the id in the path, or answers that no item can have it.
func pathID(w http.ResponseWriter, r *http.Request) (id int32, ok bool) {
	parsed, err := strconv.ParseInt(r.PathValue("id"), 10, 32)
	if err != nil || parsed < 1 {
		respondNoItem(w)
		return 0, false
	}
	return int32(parsed), true
}

func readItemInput(w http.ResponseWriter, r *http.Request) (input itemInput, ok bool) {
	if !readJSON(w, r, &input) {
		return itemInput{}, false
	}
	if !input.valid() {
		http.Error(w, "expected a name of 1 to 100 characters and a price from 0 to 1000000", http.StatusBadRequest)
		return itemInput{}, false
	}
	return input, true
}

func numberIn(query url.Values, name string, missing int64) (int64, error) {
	if !query.Has(name) {
		return missing, nil
	}
	return strconv.ParseInt(query.Get(name), 10, 32)
}

func respondNoItem(w http.ResponseWriter) {
	http.Error(w, "no such item", http.StatusNotFound)
}
