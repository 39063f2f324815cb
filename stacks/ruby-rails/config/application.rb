# frozen_string_literal: true

require_relative "boot"

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require_relative "capacity"
require_relative "../lib/date_header"

Bundler.require(*Rails.groups)

module Deadheat
  class Application < Rails::Application
    config.load_defaults 7.2
    config.api_only = true

    config.x.blob_path = ENV["BLOB_PATH"]
    config.x.static_dir = ENV["STATIC_DIR"]
    config.x.upstream_url = ENV["UPSTREAM_URL"]

    config.middleware.insert_before 0, DateHeader

    # An entity tag is a digest of each answer, 1 MiB of it for /payload. No other stack computes one.
    config.middleware.delete Rack::ETag
    config.middleware.delete Rack::ConditionalGet
  end
end
