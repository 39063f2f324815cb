package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The tests of TechEmpower's Framework Benchmarks, below /techempower.

const (
	worldCount   = 10_000
	maxWorlds    = 500
	worldByID    = "select id, randomnumber from world where id = $1"
	allWorlds    = "select id, randomnumber from world order by id"
	updateWorlds = "update world set randomnumber = new.number " +
		"from unnest($1::integer[], $2::integer[]) as new(id, number) where world.id = new.id"
)

type message struct {
	Message string `json:"message"`
}

type world struct {
	ID           int32 `json:"id"`
	RandomNumber int32 `json:"randomNumber"`
}

type techempower struct {
	pool   *pgxpool.Pool
	cached *cache[[]world]
}

func (t techempower) routes(fortunes http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /techempower/json", t.json)
	mux.HandleFunc("GET /techempower/plaintext", plaintext)
	mux.HandleFunc("GET /techempower/db", t.db)
	mux.HandleFunc("GET /techempower/queries", t.queries)
	mux.Handle("GET /techempower/fortunes", fortunes)
	mux.HandleFunc("GET /techempower/updates", t.updates)
	mux.HandleFunc("GET /techempower/cached-queries", t.cachedQueries)
	return named(mux)
}

// named adds the Server header, which these tests ask for.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "net/http")
		next.ServeHTTP(w, r)
	})
}

func (t techempower) json(w http.ResponseWriter, _ *http.Request) {
	respondJSON(w, http.StatusOK, message{Message: "Hello, World!"})
}

func (t techempower) db(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	found, err := readWorld(ctx, t.pool, randomID())
	if err != nil {
		respondInternalError(w, "read a world", err)
		return
	}
	respondJSON(w, http.StatusOK, found)
}

func (t techempower) queries(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	worlds, err := t.readWorlds(ctx, countOf(r, "queries"))
	if err != nil {
		respondInternalError(w, "read the worlds", err)
		return
	}
	respondJSON(w, http.StatusOK, worlds)
}

func (t techempower) updates(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	worlds, err := t.readWorlds(ctx, countOf(r, "queries"))
	if err != nil {
		respondInternalError(w, "read the worlds", err)
		return
	}
	// PostgreSQL locks the rows in this order, so that two requests never wait for each other.
	slices.SortFunc(worlds, func(a, b world) int { return int(a.ID - b.ID) })
	ids := make([]int32, len(worlds))
	numbers := make([]int32, len(worlds))
	for i := range worlds {
		worlds[i].RandomNumber = randomID()
		ids[i], numbers[i] = worlds[i].ID, worlds[i].RandomNumber
	}
	if _, err := t.pool.Exec(ctx, updateWorlds, ids, numbers); err != nil {
		respondInternalError(w, "update the worlds", err)
		return
	}
	respondJSON(w, http.StatusOK, worlds)
}

func (t techempower) cachedQueries(w http.ResponseWriter, r *http.Request) {
	all, err := t.cached.get(r.Context())
	if err != nil {
		respondInternalError(w, "fill the cache", err)
		return
	}
	worlds := make([]world, countOf(r, "count"))
	for i := range worlds {
		worlds[i] = all[rand.IntN(len(all))]
	}
	respondJSON(w, http.StatusOK, worlds)
}

// readWorlds reads each row by a statement of its own, all over one connection.
func (t techempower) readWorlds(ctx context.Context, count int) ([]world, error) {
	connection, err := t.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	worlds := make([]world, count)
	for i, id := range randomIDs(count) {
		if worlds[i], err = readWorld(ctx, connection, id); err != nil {
			return nil, err
		}
	}
	return worlds, nil
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func readWorld(ctx context.Context, from querier, id int32) (world, error) {
	var found world
	err := from.QueryRow(ctx, worldByID, id).Scan(&found.ID, &found.RandomNumber)
	return found, err
}

func loadWorlds(pool *pgxpool.Pool) func(context.Context) ([]world, error) {
	return func(ctx context.Context) ([]world, error) {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		// Query's error, if any, is CollectRows' too.
		rows, _ := pool.Query(ctx, allWorlds)
		return pgx.CollectRows(rows, pgx.RowToStructByPos[world])
	}
}

func randomID() int32 {
	return rand.Int32N(worldCount) + 1
}

// randomIDs returns ids that differ from each other.
func randomIDs(count int) []int32 {
	seen := make(map[int32]bool, count)
	ids := make([]int32, 0, count)
	for len(ids) < count {
		if id := randomID(); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// countOf returns the number that a request asks for: 1 to 500, and 1 for anything that is no number.
func countOf(r *http.Request, name string) int {
	count, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return 1
	}
	return min(max(count, 1), maxWorlds)
}
