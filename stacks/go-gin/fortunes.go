package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const allFortunes = "select id, message from fortune"

type fortune struct {
	ID      int32
	Message string
}

type fortunesHandler struct {
	pool *pgxpool.Pool
}

func (h fortunesHandler) list(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, allFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		c.AbortWithError(http.StatusInternalServerError, fmt.Errorf("query the fortunes: %w", err))
		return
	}
	fortunes = append(fortunes, fortune{Message: "Additional fortune added at request time."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	c.HTML(http.StatusOK, "fortunes.html", fortunes)
}
