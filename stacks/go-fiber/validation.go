package main

import (
	"github.com/go-playground/validator/v10"
	"github.com/gofiber/fiber/v3"
)

// structValidator checks whatever Fiber binds to a struct.
type structValidator struct {
	validate *validator.Validate
}

func newStructValidator() structValidator {
	return structValidator{validate: validator.New(validator.WithRequiredStructEnabled())}
}

func (v structValidator) Validate(out any) error {
	if err := v.validate.Struct(out); err != nil {
		return fiber.NewError(fiber.StatusBadRequest, err.Error())
	}
	return nil
}
