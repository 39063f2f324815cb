package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
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

func (h usersHandler) list(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, firstUsers)
	users, err := pgx.CollectRows(rows, pgx.RowToStructByPos[user])
	if err != nil {
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("query the users: %w", err))
		return
	}
	c.JSON(http.StatusOK, users)
}
