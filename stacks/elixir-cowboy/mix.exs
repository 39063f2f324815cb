Code.require_file("debian.exs", __DIR__)

# What `mix debian.get` brought: compiled applications, which mix takes as it takes those of Erlang itself.
for path <- Path.wildcard(Path.join(__DIR__, "out/deps/*/ebin")), do: Code.prepend_path(path)

defmodule Server.MixProject do
  use Mix.Project

  @release "out/release"

  def project do
    [
      app: :server,
      version: "1.0.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      # Mix 1.15 and later would take the paths above away again.
      prune_code_paths: false,
      deps: [],
      aliases: ["debian.get": &get_from_debian/1, deploy: ["compile", &assemble/1]],
      releases: [server: release()]
    ]
  end

  def application do
    [
      extra_applications: [
        :logger,
        :eex,
        :crypto,
        :ssl,
        :cowboy,
        :gun,
        :jiffy,
        :poolboy,
        :p1_pgsql,
        :xmpp
      ],
      mod: {Server.Application, []}
    ]
  end

  # Name, version, and the package of Debian 12 that holds it.
  defp debian do
    [
      {:cowboy, "2.8.0", "rabbitmq-server", []},
      {:cowlib, "2.9.1", "rabbitmq-server", []},
      {:ranch, "2.1.0", "rabbitmq-server", []},
      {:gun, "1.3.3", "rabbitmq-server", []},
      {:jiffy, "1.1.1", "erlang-jiffy", []},
      {:poolboy, "1.5.2", "erlang-poolboy", []},
      {:p1_pgsql, "1.1.20", "erlang-p1-pgsql", []},
      # p1_pgsql logs in by SCRAM with a module of this XMPP library, which is far larger than the server.
      {:xmpp, "1.6.1", "erlang-p1-xmpp",
       modules: [:scram, :jid], applications: [:kernel, :stdlib, :crypto, :stringprep]},
      {:stringprep, "1.0.29", "erlang-p1-stringprep", []},
      {:p1_utils, "1.0.25", "erlang-p1-utils", []}
    ]
  end

  defp release, do: [path: @release, include_executables_for: [:unix]]

  defp get_from_debian(_arguments), do: Debian.get(debian(), Path.expand("out/deps", __DIR__))

  # `mix release` assembles anew whenever it is called.
  defp assemble(_arguments) do
    made = Path.join(@release, "releases/start_erl.data")

    # The folder of the dependencies is made anew with them; the files in it are as old as Debian's packages.
    from =
      ["mix.exs", "out/deps"] ++
        Path.wildcard("{config,rel}/*") ++ Path.wildcard("_build/prod/lib/**/*.*")

    if Mix.Utils.stale?(from, [made]), do: Mix.Task.run("release", ["--overwrite", "--quiet"])
  end
end
