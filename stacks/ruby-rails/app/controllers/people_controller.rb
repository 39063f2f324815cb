# frozen_string_literal: true

class PeopleController < ApplicationController
  before_action :require_json, only: :create

  def index
    render json: [{ name: "John", username: "Doe" }]
  end

  def create
    # The body's alone: params would also take a name from the query.
    name, username = request.request_parameters.values_at(:name, :username)
    unless name.is_a?(String) && username.is_a?(String)
      raise ActionController::BadRequest, "a name and a username are text"
    end

    render plain: "Hello, #{name}!"
  end

  private

  # Rails would also read forms.
  def require_json
    head :unsupported_media_type unless request.content_mime_type == :json
  end
end
