package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	connectTimeout = 5 * time.Second
	queryTimeout   = 10 * time.Second
	firstUsers     = "select id, email from users order by id limit 10"
)

type user struct {
	ID    int32  `json:"id"`
	Email string `json:"email"`
}

type usersHandler struct {
	pool *pgxpool.Pool
}

func newPool(ctx context.Context, s settings) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.databaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse DATABASE_URL: %w", err)
	}
	config.MaxConns = s.poolSize
	config.ConnConfig.ConnectTimeout = connectTimeout
	// A request sends its own statement only. By default, pgx pings a connection that was idle for a second.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	return pgxpool.NewWithConfig(ctx, config)
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
