# frozen_string_literal: true

Rails.application.configure do
  config.enable_reloading = false
  config.eager_load = true
  config.consider_all_requests_local = false
  config.public_file_server.enabled = false

  # Rails logs each request at the level info, and each answer of 400 or 404 as an error.
  config.logger = ActiveSupport::Logger.new($stdout).tap { |logger| logger.formatter = Logger::Formatter.new }
  config.log_level = :warn
  config.action_dispatch.log_rescued_responses = false
end
