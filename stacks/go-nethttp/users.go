package main

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const firstUsers = "select id, email from users order by id limit 10"

type user struct {
	ID    int32  `json:"id"`
	Email string `json:"email"`
}

type usersHandler struct {
	pool *pgxpool.Pool
}

func (h usersHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, firstUsers)
	users, err := pgx.CollectRows(rows, pgx.RowToStructByPos[user])
	if err != nil {
		respondInternalError(w, "query the users", err)
		return
	}
	respondJSON(w, http.StatusOK, users)
}
