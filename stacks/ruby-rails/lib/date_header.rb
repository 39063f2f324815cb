# frozen_string_literal: true

require "time"

# Adds the Date that a server with a clock sends (RFC 9110, section 6.6.1). Puma leaves it to a proxy in front of it.
class DateHeader
  def initialize(app)
    @app = app
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers["date"] = Time.now.httpdate
    [status, headers, body]
  end
end
