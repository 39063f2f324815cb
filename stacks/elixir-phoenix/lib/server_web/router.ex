defmodule ServerWeb.Router do
  use ServerWeb, :router

  pipeline :api do
    plug :accepts, ["json"]
  end

  scope "/", ServerWeb do
    get "/plaintext", PlaintextController, :show
    post "/json", PersonController, :greet
    get "/payload", PayloadController, :show
    get "/ping-pong", PayloadController, :ping_pong
    get "/bytes", DigestController, :show
    get "/proxy", ProxyController, :show
  end

  scope "/", ServerWeb do
    pipe_through :api

    get "/json", PersonController, :index
    get "/users", UserController, :index
  end
end
