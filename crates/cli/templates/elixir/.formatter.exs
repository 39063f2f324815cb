[inputs: ["*.exs", "lib/**/*.ex"]]
