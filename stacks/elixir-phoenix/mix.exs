defmodule Server.MixProject do
  use Mix.Project

  @release "out/release"

  def project do
    [
      app: :server,
      version: "1.0.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      aliases: [deploy: ["compile", &assemble/1]],
      releases: [server: release()]
    ]
  end

  def application do
    [mod: {Server.Application, []}, extra_applications: [:logger, :crypto]]
  end

  defp deps do
    [
      {:phoenix, "~> 1.7.23"},
      # The last one that compiles with Elixir 1.14, which Debian 12 has.
      {:bandit, "~> 1.11.1"},
      {:phoenix_html, "~> 4.3"},
      # As above: 1.0 needs Elixir 1.14.1.
      {:phoenix_live_view, "~> 0.20.17"},
      {:jason, "~> 1.4"},
      {:ecto_sql, "~> 3.13.5"},
      {:postgrex, "~> 0.21.1"},
      {:finch, "~> 0.21.0"}
    ]
  end

  defp release do
    [
      path: @release,
      include_executables_for: [:unix],
      # Made at every start, read once.
      prune_runtime_sys_config_after_boot: true
    ]
  end

  # `mix release` assembles anew whenever it is called.
  defp assemble(_arguments) do
    made = Path.join(@release, "releases/start_erl.data")

    from =
      ["mix.exs", "mix.lock"] ++
        Path.wildcard("{config,rel}/*") ++ Path.wildcard("_build/prod/lib/**/*.*")

    if Mix.Utils.stale?(from, [made]), do: Mix.Task.run("release", ["--overwrite", "--quiet"])
  end
end
