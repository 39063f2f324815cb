[
  import_deps: [:ecto, :phoenix],
  plugins: [Phoenix.LiveView.HTMLFormatter],
  inputs: ["{config,lib}/**/*.{heex,ex,exs}", "*.exs"]
]
