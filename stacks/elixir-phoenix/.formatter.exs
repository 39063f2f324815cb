[
  import_deps: [:ecto, :phoenix],
  inputs: ["{config,lib}/**/*.{ex,exs}", "*.exs"]
]
