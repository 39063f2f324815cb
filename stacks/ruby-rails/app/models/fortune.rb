# frozen_string_literal: true

class Fortune < ApplicationRecord
  self.table_name = "fortune"

  # Ids count from 1. Without that parameter, Active Record would not prepare the statement.
  scope :stored, -> { select(:id, :message).where(id: 1..) }
end
