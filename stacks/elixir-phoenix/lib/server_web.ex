defmodule ServerWeb do
  @moduledoc "What routers, controllers and pages have in common: `use ServerWeb, :controller`."

  def router do
    quote do
      use Phoenix.Router, helpers: false

      import Phoenix.Controller
    end
  end

  def controller do
    quote do
      use Phoenix.Controller, formats: [:html, :json], layouts: []
      import Plug.Conn

      action_fallback ServerWeb.FallbackController

      use Phoenix.VerifiedRoutes, endpoint: ServerWeb.Endpoint, router: ServerWeb.Router
    end
  end

  def html do
    quote do
      use Phoenix.Component
    end
  end

  defmacro __using__(which) when is_atom(which) do
    apply(__MODULE__, which, [])
  end
end
