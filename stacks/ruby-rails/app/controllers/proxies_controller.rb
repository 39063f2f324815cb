# frozen_string_literal: true

class ProxiesController < ApplicationController
  rescue_from Upstream::Failure do |failure|
    logger.error { "the upstream failed: #{failure.message}" }
    head :bad_gateway
  end

  def show
    answer = Upstream.instance.get
    render body: answer.body, content_type: answer.content_type || "text/plain"
  end
end
