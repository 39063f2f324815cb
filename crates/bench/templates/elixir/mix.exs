defmodule Server.MixProject do
  use Mix.Project

  def project do
    [app: :server, version: "0.1.0", elixir: "~> 1.14", start_permanent: true, deps: []]
  end

  def application do
    [extra_applications: [:logger], mod: {Server.Application, []}]
  end
end
