package main

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
)

const productsPerPage = 100

var categories = [...]string{"books", "garden", "kitchen", "music", "tools"}

type product struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Price    int    `json:"price"`
	Stock    int    `json:"stock"`
}

func productsFrom(first int) []product {
	products := make([]product, productsPerPage)
	for i := range products {
		products[i] = newProduct(first + i)
	}
	return products
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

type productsQuery struct {
	From int `form:"from" binding:"required,min=1,max=1000000"`
}

func listProducts(c *gin.Context) {
	var query productsQuery
	if c.BindQuery(&query) != nil {
		return // It has answered 400.
	}
	// The compression says so of compressed answers alone.
	c.Header("Vary", "Accept-Encoding")
	c.JSON(http.StatusOK, productsFrom(query.From))
}
