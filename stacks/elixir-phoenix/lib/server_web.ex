defmodule ServerWeb do
  @moduledoc "What routers and controllers have in common: `use ServerWeb, :controller`."

  def router do
    quote do
      use Phoenix.Router, helpers: false
    end
  end

  def controller do
    quote do
      use Phoenix.Controller, formats: [:json]
      import Plug.Conn

      action_fallback ServerWeb.FallbackController
    end
  end

  defmacro __using__(which) when is_atom(which) do
    apply(__MODULE__, which, [])
  end
end
