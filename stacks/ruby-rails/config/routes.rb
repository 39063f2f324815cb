# frozen_string_literal: true

Rails.application.routes.draw do
  get "plaintext", to: "plaintext#show"
  get "json", to: "people#index"
  post "json", to: "people#create"
  get "static/*name", to: "files#show", format: false
  get "products", to: "products#index"
  post "upload", to: "uploads#create"
  get "payload", to: "payloads#show"
  get "ping-pong", to: "payloads#ping_pong"
  get "bytes", to: "digests#show"
  get "users", to: "users#index"
  get "fortunes", to: "fortunes#index"
  resources :items, only: %i[index show create update destroy], constraints: { id: /[1-9][0-9]*/ }
  get "proxy", to: "proxies#show"
end
