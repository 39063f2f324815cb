package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v3"
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

func (h fortunesHandler) list(c fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, allFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		return fmt.Errorf("query the fortunes: %w", err)
	}
	fortunes = append(fortunes, fortune{Message: "Additional fortune added at request time."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	return c.Render("views/fortunes", fortunes)
}
