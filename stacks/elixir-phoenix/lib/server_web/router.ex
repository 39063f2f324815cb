defmodule ServerWeb.Router do
  use ServerWeb, :router

  pipeline :browser do
    plug :accepts, ["html"]
    plug :put_secure_browser_headers
  end

  pipeline :api do
    plug :accepts, ["json"]
  end

  scope "/", ServerWeb do
    get "/plaintext", PlaintextController, :show
    post "/json", PersonController, :greet
    get "/payload", PayloadController, :show
    get "/ping-pong", PayloadController, :ping_pong
    get "/products", ProductController, :index
    post "/upload", UploadController, :create
    get "/bytes", DigestController, :show
    get "/proxy", ProxyController, :show
  end

  scope "/", ServerWeb do
    pipe_through :browser

    get "/fortunes", FortuneController, :index
  end

  scope "/", ServerWeb do
    pipe_through :api

    get "/json", PersonController, :index
    get "/users", UserController, :index
    resources "/items", ItemController, except: [:new, :edit]
  end

  scope "/", ServerWeb do
    # Without a route, Phoenix raises an exception, after which Bandit closes the connection.
    match :*, "/*path", FallbackController, {:error, :not_found}
  end
end
