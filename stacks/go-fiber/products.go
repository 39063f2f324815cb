package main

import (
	"fmt"

	"github.com/gofiber/fiber/v3"
)

const maxProductID = 1_000_000

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

func listProducts(c fiber.Ctx) error {
	// The default stands for what is missing or no number, and is refused like a 0 from the client.
	from := fiber.Query[int](c, "from", 0)
	if from < 1 || from > maxProductID {
		return fiber.NewError(fiber.StatusBadRequest, "from must be a number from 1 to 1000000")
	}
	return c.JSON(productsFrom(from))
}
