package main

import (
	"fmt"
	"net/http"
	"strconv"
)

const (
	productsPerPage = 100
	maxProductID    = 1_000_000
)

var categories = [...]string{"books", "garden", "kitchen", "music", "tools"}

type product struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Price    int    `json:"price"`
	Stock    int    `json:"stock"`
}

func newProduct(id int) product {
	return product{
		ID:       id,
		Name:     fmt.Sprintf("Product %d", id),
		Category: categories[id%len(categories)],
		Price:    id * 37 % 10_007,
		Stock:    id * 31 % 101,
	}
}

func listProducts(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 1 || from > maxProductID {
		http.Error(w, fmt.Sprintf("from must be a number from 1 to %d", maxProductID), http.StatusBadRequest)
		return
	}
	products := make([]product, productsPerPage)
	for i := range products {
		products[i] = newProduct(from + i)
	}
	respondJSON(w, http.StatusOK, products)
}
