defmodule Server.AllowedMethods do
  @moduledoc "A middleware that answers 405 to methods that a route does not have. HEAD is GET; Cowboy drops the body."

  @behaviour :cowboy_middleware

  alias Server.Respond

  @impl true
  def execute(%{method: "HEAD"} = req, env), do: execute(req, "GET", env)
  def execute(%{method: method} = req, env), do: execute(req, method, env)

  defp execute(req, method, %{handler_opts: %{methods: methods}} = env) do
    if method in methods do
      {:ok, req, env}
    else
      {:stop, Respond.method_not_allowed(req, methods)}
    end
  end

  # Cowboy's own handler of files knows its methods.
  defp execute(req, _method, env), do: {:ok, req, env}
end
