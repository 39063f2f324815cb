# frozen_string_literal: true

require "net/http"

# The slow upstream, over connections that are kept.
class Upstream
  include Singleton

  Failure = Class.new(StandardError)

  ERRORS = [SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::SSL::SSLError, Net::HTTPBadResponse].freeze

  def initialize
    @url = URI(Rails.configuration.x.upstream_url)
    # As many as there are threads, so that no request waits for one.
    @connections = ConnectionPool.new(size: Capacity.threads) { connect }
  end

  def get
    answer = @connections.with { |connection| connection.get(@url.request_uri) }
    raise Failure, "it answered #{answer.code}" unless answer.is_a?(Net::HTTPSuccess)

    answer
  rescue *ERRORS => error
    raise Failure, error.message
  end

  private

  def connect
    # The nil: past any proxy that the environment names.
    http = Net::HTTP.new(@url.hostname, @url.port, nil)
    http.use_ssl = @url.scheme == "https"
    http.open_timeout = 2
    http.read_timeout = 10
    http.keep_alive_timeout = 60
    http.max_retries = 0 # a request is sent once
    http.start
  end
end
