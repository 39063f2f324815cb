[inputs: ["{config,lib,rel}/**/*.{ex,exs}", "*.exs"]]
