package main

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const allFortunes = "select id, message from fortune"

//go:embed templates
var templates embed.FS

var fortunesPage = template.Must(template.ParseFS(templates, "templates/fortunes.html"))

type fortune struct {
	ID      int32
	Message string
}

type fortunesHandler struct {
	pool *pgxpool.Pool
}

func (h fortunesHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	// Query's error, if any, is CollectRows' too.
	rows, _ := h.pool.Query(ctx, allFortunes)
	fortunes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fortune])
	if err != nil {
		respondInternalError(w, "query the fortunes", err)
		return
	}
	fortunes = append(fortunes, fortune{Message: "Additional fortune added at request time."})
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	respondHTML(w, fortunesPage, fortunes)
}
